/* A class of C++, whose name has colons. */
BEGIN { trace(((ns::Baz *)arg1)->a); }
END { trace(sizeof (struct ns::Baz)); }
ns::Baz *p;
