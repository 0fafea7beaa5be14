BEGIN { trace(curcpu); }
BEGIN { trace(lgrp); }
BEGIN { printm(4, 0); }
BEGIN { trace(curthread); }
BEGIN { trace(zonename); }
BEGIN { trace(mutex_owned(0)); }
