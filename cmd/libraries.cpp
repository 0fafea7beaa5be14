// D libraries on disk. Covered by tests/runtime/scenarios/test_libraries.py.

#include "cmd/libraries.h"

#include <algorithm>
#include <filesystem>

#include "cmd/embedded.h"
#include "cmd/read_file.h"

namespace dvm::cmd {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scripts_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".d") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

Status add_folder(const fs::path& folder, bool if_named, std::vector<compiler::Library>& libraries) {
  for (const fs::path& file : scripts_in(folder)) {
    Result<compiler::Source> source = read_file(file.string());
    if (!source) return source.error();
    libraries.push_back({std::move(*source), if_named});
  }
  return {};
}

// Behind the files of own_folder(): the first library of a name counts.
void add_embedded(std::vector<compiler::Library>& libraries) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.folder == "dlib") libraries.push_back({{std::string(file.name), std::string(file.text)}, true});
}

}  // namespace

std::string documentation(const std::string& file) {
  const fs::path installed = (own_folder() / "../../share/doc/dvm" / file).lexically_normal();
  std::error_code error;
  return fs::exists(installed, error) ? installed.string() : file;
}

fs::path own_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path().parent_path() / "lib/dvm";
}

Result<std::vector<compiler::Library>> read_libraries(const dif::Options& options) {
  std::vector<compiler::Library> libraries;
  if (options[dif::Option::nolibs] != 0) return libraries;
  const auto& system = options.texts(dif::Option::syslibdir);
  if (Status added = add_folder(system.empty() ? own_folder() : fs::path(system.back()), system.empty(), libraries); !added)
    return added.error();
  if (system.empty()) add_embedded(libraries);
  for (const std::string& folder : options.texts(dif::Option::libdir))
    if (Status added = add_folder(folder, false, libraries); !added) return added.error();
  return libraries;
}

}  // namespace dvm::cmd
