/* Unknown names in the place of a type: of the traced process, perhaps. */
BEGIN { ((conf_t *)arg0)->x; (conf_t)x; (conf_t **)(x); (const conf_t *)x; sizeof (x); sizeof x;
	xlate <conf_t *>(x); (x) - 1; (x) * 2; (x)++; (x); (x)[1]; (x * y); offsetof(conf_t, m); -(x); (f_t)f(x); }
translator struct out < conf_t *P > { m = P->x; };
