BEGIN { trace(((struct node *)arg0)->value); }
