/**
 * Sets a property of an object's own, also one named __proto__. Every other one is assigned: an object whose properties
 * are defined is slow for whoever reads it afterwards.
 */
export function setOwn<T>(object: { [key: string]: T }, name: string, value: T): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  } else object[name] = value
}
