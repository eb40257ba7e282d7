/** For whoever puts the members of something on one by one that nobody changes afterwards. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }
