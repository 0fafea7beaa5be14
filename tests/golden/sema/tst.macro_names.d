/* $2 is the name "text". */
BEGIN { $2 = 3; this->a = $2++; trace($2 + text); }
BEGIN /$2 == 4/ { if ($2 > 3) $2 -= 1; else trace($2); }
BEGIN { self->$2 = 1; this->$2 = self->text; }
struct $2 { int $2; };
struct text s;
inline int f[int $2] = $2 + 1;
BEGIN { s.$2 = f[1]; p = (struct $2 *)alloca(4); trace(p->$2); $2 = offsetof(struct text, $2); }
