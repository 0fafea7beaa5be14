struct s { char c; int b:5; long l[3]; };
BEGIN { this->p = (struct s *)alloca(40); this->p->b = 3; this->p->l[2] = 7; trace(this->p->b); trace(*(this->p->l + 1)); trace(&this->p->l[1]); }
