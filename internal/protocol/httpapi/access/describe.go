package access

import "fiveways.dev/fiveways/internal/protocol/httpapi/rest"

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /api/whoami": {Summary: "The caller and its tags", Out: identity{}},

	"GET /api/users":                                          {Summary: "All users", Out: User{}, Listing: true},
	"GET /api/users/without-permissions":                      {Summary: "Users that may do nothing in any virtual host", Out: User{}, Listing: true},
	"POST /api/users/bulk-delete":                             {Summary: "Delete several users, or none when one of them is not there", In: UserNames{}},
	"GET /api/users/{user}":                                   {Summary: "One user", Out: User{}},
	"PUT /api/users/{user}":                                   {Summary: "Make a user, or change one", In: UserChange{}},
	"DELETE /api/users/{user}":                                {Summary: "Delete a user; its connections are closed"},
	"PUT /api/users/{user}/password":                          {Summary: "Give a user another password", In: PasswordChange{}},
	"PUT /api/users/{user}/tags":                              {Summary: "Give a user other tags", In: TagsChange{}},
	"PUT /api/users/{user}/loopback-only":                     {Summary: "Let a user log in from the broker's machine only, or from everywhere", In: Switch{}},
	"GET /api/users/{user}/permissions":                       {Summary: "The permissions of a user", Out: []Permission{}},
	"GET /api/users/{user}/topic-permissions":                 {Summary: "The topic permissions of a user", Out: []TopicPermission{}},
	"GET /api/vhosts":                                         {Summary: "The virtual hosts that the caller may see", Out: VHost{}, Listing: true, Query: rest.Histories},
	"GET /api/vhosts/{vhost}":                                 {Summary: "One virtual host", Out: VHost{}, Query: rest.Histories},
	"PUT /api/vhosts/{vhost}":                                 {Summary: "Make a virtual host, or change what is noted about it", In: VHostChange{}},
	"DELETE /api/vhosts/{vhost}":                              {Summary: "Delete a virtual host with all that is in it"},
	"POST /api/vhosts/{vhost}/start/{node}":                   {Summary: "Start a virtual host, which runs already, on this node"},
	"GET /api/vhosts/{vhost}/permissions":                     {Summary: "The permissions in a virtual host", Out: []Permission{}},
	"GET /api/vhosts/{vhost}/topic-permissions":               {Summary: "The topic permissions in a virtual host", Out: []TopicPermission{}},
	"GET /api/permissions":                                    {Summary: "All permissions", Out: []Permission{}},
	"GET /api/permissions/{vhost}/{user}":                     {Summary: "What a user may do in a virtual host", Out: Permission{}},
	"PUT /api/permissions/{vhost}/{user}":                     {Summary: "Say what a user may do in a virtual host", In: permissionChange{}},
	"DELETE /api/permissions/{vhost}/{user}":                  {Summary: "Take from a user all permissions in a virtual host"},
	"GET /api/topic-permissions":                              {Summary: "All topic permissions", Out: []TopicPermission{}},
	"GET /api/topic-permissions/{vhost}/{user}":               {Summary: "Which routing keys a user may use in a virtual host", Out: []TopicPermission{}},
	"PUT /api/topic-permissions/{vhost}/{user}":               {Summary: "Bound the routing keys of a user on a topic exchange", In: topicPermissionChange{}},
	"DELETE /api/topic-permissions/{vhost}/{user}":            {Summary: "Take away all bounds on routing keys of a user in a virtual host"},
	"DELETE /api/topic-permissions/{vhost}/{user}/{exchange}": {Summary: "Take away the bounds on routing keys of a user on one exchange"},
}
