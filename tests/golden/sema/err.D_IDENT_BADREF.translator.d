struct list { int length; struct list *next; };
struct o { int length; };
translator struct o < struct list *L > { length = 1 + xlate <struct o *> (L->next)->length; };
BEGIN { this->l = (struct list *)0; trace(xlate <struct o *> (this->l)->length); }
