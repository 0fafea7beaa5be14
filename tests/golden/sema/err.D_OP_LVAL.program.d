/* @program */
pid1:a.out:visit:entry { args[0]->value = 1; ((struct node *)arg0)->next->value += 2; `first.value = 3; *(int *)arg0 = 4; `table[1]--; }
