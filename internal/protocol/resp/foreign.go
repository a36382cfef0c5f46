package resp

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// foreign maps each data command of Redis 7.0 that this broker does not implement to the data type
// it works on. Programs that keep their jobs in such types cannot work here, and the error tells
// them why.
var foreign = func() map[string]string {
	all := map[string]string{}
	for about, names := range map[string]string{
		"strings": `append bitcount bitfield bitfield_ro bitop bitpos decr decrby get getbit getdel getex getrange getset incr incrby incrbyfloat lcs
			mget mset msetnx psetex set setbit setex setnx setrange strlen substr`,
		"hashes": "hdel hexists hget hgetall hincrby hincrbyfloat hkeys hlen hmget hmset hrandfield hscan hset hsetnx hstrlen hvals",
		"sets": `sadd scard sdiff sdiffstore sinter sintercard sinterstore sismember smembers smismember smove spop srandmember srem sscan sunion
			sunionstore`,
		"sorted sets": `bzmpop bzpopmax bzpopmin zadd zcard zcount zdiff zdiffstore zincrby zinter zintercard zinterstore zlexcount zmpop zmscore zpopmax
			zpopmin zrandmember zrange zrangebylex zrangebyscore zrangestore zrank zrem zremrangebylex zremrangebyrank zremrangebyscore zrevrange
			zrevrangebylex zrevrangebyscore zrevrank zscan zscore zunion zunionstore`,
		"scripts":       "eval eval_ro evalsha evalsha_ro fcall fcall_ro function script",
		"times of keys": "expire expireat expiretime persist pexpire pexpireat pexpiretime pttl ttl",
	} {
		for _, name := range strings.Fields(names) {
			all[name] = about
		}
	}
	return all
}()

// clusterOnly holds the commands that Redis rejects outside its cluster mode. Cluster clients show
// that error to their users, who then know that they need a plain client.
var clusterOnly = map[string]bool{"asking": true, "cluster": true, "readonly": true, "readwrite": true}

// lowered returns a command's name in lower case, cut off as in errors.
func lowered(name []byte) string { return strings.ToLower(string(command.Quoted(name))) }

// elsewhere returns an explanation that follows Redis' text for an unknown command, if Redis has
// the command. Clients do not parse this part of the error.
func elsewhere(name []byte) string {
	about, ok := foreign[lowered(name)]
	if !ok {
		return ""
	}
	return "(this broker has no " + about + "; it has jobs, lists, channels and streams, and COMMAND lists what they take)"
}
