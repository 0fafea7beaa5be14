/* @refuse-unused: options of the compiler take effect from their line on. */
#pragma D option argref
#pragma D option defaultargs
#pragma D option zdefs
BEGIN { trace($7); trace($$8); }
nosuch:::probe { trace(1); }
