/* @program */
pid1:a.out:visit:entry { trace(args[0]->valeu); }
