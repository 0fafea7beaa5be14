BEGIN { copyinto(4096, 4, 77); }
BEGIN { v = 77; copyinto(4096, 4, v); }
BEGIN { copyinto(4096, 4, "text"); }
BEGIN { bcopy(alloca(8), "text", 4); }
BEGIN { copyinto(4096, 4, alloca(4)); this->p = alloca(8); bcopy(this->p, this->p, 8); }
char buffer[8]; BEGIN { copyinto(4096, 4, buffer); }
struct part { char text[8]; int n; }; struct part whole; this struct part mine; struct part many[int];
BEGIN { bcopy(alloca(8), whole.text, 4); }
BEGIN { bcopy(alloca(8), &whole.text[1], 4); }
BEGIN { copyinto(4096, 4, &this->mine.n); }
BEGIN { copyinto(4096, 4, many[1].text); }
BEGIN { this->in = (struct part *)alloca(16); bcopy("x", this->in->text, 1); bcopy("x", &this->in->n, 1); bcopy("x", this->in[0].text, 1); }
