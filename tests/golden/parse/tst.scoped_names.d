/* Variables in namespaces and classes of the traced program. */
BEGIN {
  trace(a.out`ns::counter); trace(`ns::Class::count); trace(libfoo.so.1`a::b::c[1] ? `x::y : 2); trace(1 ? a.out`x : 2);
}
