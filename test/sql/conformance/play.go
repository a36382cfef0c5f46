package conformance

import (
	"context"
	"strings"
)

// play runs a script on a server and returns the masked answer to each step. dsn returns the URL of
// the script's database for a user.
func play(ctx context.Context, s script, dsn func(user string) string, extended bool) (answers [][]string, err error) {
	sessions, kept, m := map[string]*session{}, map[string]string{}, newMask()
	defer func() {
		for _, open := range sessions {
			open.close()
		}
	}()
	for _, st := range s.steps {
		open := sessions[st.session]
		if open == nil {
			if open, err = openSession(ctx, dsn(st.user), extended); err != nil {
				return answers, err
			}
			sessions[st.session] = open
		}
		var answer []string
		switch {
		case st.answer:
			answer = open.answer()
		case st.sql == "":
			open.close()
			delete(sessions, st.session)
		case st.wait:
			answer = open.start(ctx, fill(st.sql, kept))
		default:
			answer = open.run(ctx, fill(st.sql, kept))
		}
		if st.keep != "" {
			kept[st.keep] = open.last
		}
		for i := range answer {
			answer[i] = strings.TrimRight(m.apply(answer[i]), " ")
		}
		answers = append(answers, answer)
	}
	return answers, nil
}
