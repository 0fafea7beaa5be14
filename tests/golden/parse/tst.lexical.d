#!/usr/sbin/dvm run -s
  # pragma D option quiet
#ident "a version"
/* Suffixes, bases, characters: the first of several in the highest byte. No trigraphs. */
BEGIN {
	trace(1u); trace(1U); trace(1l); trace(1UL); trace(1ll); trace(1ULL); trace(0); trace(017); trace(0Xff);
	trace('a'); trace('ab'); trace('abcdefgh'); trace('\377'); trace('\0'); trace('\q'); trace('"'); trace('\'');
	trace("??/?"); trace("\a\b\f\n\r\t\v\\\""); trace("\101\1018\0hidden"); trace("\x41g\q\e"); trace("'");
	trace(\
1); trace(a/* one */+/* two */b); trace(p->string + p->self->probe.int); trace(this->this);
}
BEGIN /x//* predicate ends */ { }
BEGIN /a / b/ { }
BEGIN/* a comment at once */{ }
END{}
