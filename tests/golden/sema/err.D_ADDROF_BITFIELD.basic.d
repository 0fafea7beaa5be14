struct b { int x:3; };
BEGIN { this->p = (struct b *)alloca(4); trace(&this->p->x); }
