BEGIN { trace(jailname); }
BEGIN { trace(jid); }
BEGIN { printm(4, 0); }
BEGIN { trace(curthread); }
BEGIN { trace(vmregs[0]); }
BEGIN { trace(mutex_owned(0)); }
