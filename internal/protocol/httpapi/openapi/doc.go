// Package openapi makes the OpenAPI 3.1 document of an API from its routes: their patterns, what they need, and the types of what they read and answer,
// so that it says what the handlers do. What a type's form in JSON does not follow from its fields it says itself, with a method JSONSchema.
package openapi
