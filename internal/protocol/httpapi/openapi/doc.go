// Package openapi generates the OpenAPI 3.1 document of an API from its routes: their patterns,
// required tags, and the types of bodies and answers, so that it describes what the handlers do. A
// type whose JSON form does not follow from its fields describes it with a method JSONSchema.
package openapi
