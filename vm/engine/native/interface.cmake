# The number of the interface between dvm and the plugin, made from the text of the headers and tables that both are compiled with.
# -DFOLDER=... -DFILES=... -DOUTPUT=...
set(text "")
foreach(file ${FILES})
  file(SHA256 ${FOLDER}/${file} hash)
  string(APPEND text "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 16 number)
file(WRITE ${OUTPUT} "#pragma once
// Made by vm/engine/native/interface.cmake.

#include <cstdint>

namespace dvm::vm::native {

inline constexpr uint64_t kInterface = 0x${number};

}  // namespace dvm::vm::native
")
