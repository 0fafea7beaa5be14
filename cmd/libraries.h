#pragma once
// Finds D libraries: dvm's own beside the program and in it, then those in the folders of -L and -x libdir.

#include <filesystem>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/compiler/compile.h"
#include "dvm/dif/option.h"

namespace dvm::cmd {

// Folder of dvm's own files, relative to the program: ../lib/dvm, both in the build tree (cmd/dvm) and installed (bin/dvm).
// Empty: it cannot be told.
std::filesystem::path own_folder();
// The path of a page such as "docs/json.md": that of the installed file, or the given one if it is not installed.
std::string documentation(const std::string& file);

// All files NAME.d of the folders, by name in each; a folder that is not there has none. dvm's own are read only when named.
// Nothing with -x nolibs.
Result<std::vector<compiler::Library>> read_libraries(const dif::Options& options);

}  // namespace dvm::cmd
