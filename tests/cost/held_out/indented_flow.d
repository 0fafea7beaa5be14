self int indent;

replay:::firing { printf("%*s-> %s\n", self->indent, "", probename); self->indent += 2; }
replay:::firing /self->indent > 10 || arg1 < 20/ { self->indent = 0; }
