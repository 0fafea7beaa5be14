# Writes a header with the commit that is built: cmake -DSOURCE=FOLDER -DOUTPUT=FILE -P commit.cmake. The file changes only if the commit does.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define DVM_COMMIT \"${commit}\"\n")
