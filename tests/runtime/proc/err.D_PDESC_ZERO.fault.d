/* needs: uprobes */
proc:::fault { trace(arg0); }
