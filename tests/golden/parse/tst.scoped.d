/* Names of the traced process: of symbols, and of types where a cast, a declaration or sizeof wants one. */
a.out`struct conf *global;
`struct conf *any; `conf_t other;
struct a.out`conf *inside;
libc.so.6`size_t*packed;
`libfoo-1.2+x.so.6`size_t wide;
userland struct conf *theirs;
int*x;
uint32_t*y;

BEGIN {
  trace(`counter); trace(a.out`counter + 1); trace(libc.so.6`environ); trace(`ld-linux.so.2`_dl_argv);
  trace(pid123`a.out`counter); trace($target`counter);
  trace((a.out`conf_t *)arg0); trace(((struct a.out`conf *)arg0)->member); trace((`union u *)arg0);
  trace((a.out`enum color)arg0); trace(((a.out`struct conf *)arg0)->member.other);
  trace((userland struct conf *)arg0); trace(sizeof (a.out`conf_t)); trace(sizeof (a.out`struct conf *));
  trace(offsetof(struct a.out`conf, member)); trace((a.out`x) - 1); trace((a.out`x * 2)); trace(&a.out`x); trace(*`x);
  trace(a.out`x[2]); trace(a.out`x.member); trace(a.out`x->member);
}
