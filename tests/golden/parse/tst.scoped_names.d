/* Variables in namespaces and classes of the traced program. */
BEGIN {
  trace(a.out`ns::counter); trace(`ns::Class::count); trace(libfoo.so.1`a::b::c[1] ? `x::y : 2); trace(1 ? a.out`x : 2);
}
BEGIN { trace(((struct `ns::Box<ns::Pair<int, char> >::Node *)arg0)->item); trace(sizeof (struct a.out`Box<4>)); trace(`a<b && `c>d); }
translator struct `out < struct in *p > { a = p->b; };
