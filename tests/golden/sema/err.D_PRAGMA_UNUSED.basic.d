#pragma D attributes Stable/Stable/Common nothing
#pragma D binding "1.2" nobody
#pragma D binding "1.0" translator
BEGIN { }
