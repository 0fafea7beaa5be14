/* Records in their order, with columns and indentation.
 * replay: looper.dvm
 * run: -F
 */
pid$target:looper:main:entry { trace(arg0); }
pid$target:looper:func:entry, pid$target:looper:func:return /n++ < 5/ { }
