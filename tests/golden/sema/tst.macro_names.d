/* $2 is the name "text". */
BEGIN { $2 = 3; this->a = $2++; trace($2 + text); }
BEGIN /$2 == 4/ { if ($2 > 3) $2 -= 1; else trace($2); }
