/* @program */
BEGIN { trace(((struct nowhere *)arg0)->x); trace(((struct node *)arg0)->hidden->x); }
