// Covered by tests/unit/vm/native_test.cpp.

#include "vm/engine/native/load_translator.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace dvm::vm::native {

namespace {

namespace fs = std::filesystem;

constexpr int kFoldersUp = 3;  // from a test program to the top of the build tree

// The place of an installed plugin is the first; it names the plugin where there is none.
std::string find_plugin() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::string first;
  fs::path folder = program.parent_path();
  for (int i = 0; i < kFoldersUp; i++) {
    folder = folder.parent_path();
    const fs::path file = folder / "lib/dvm" / kPluginFile;
    if (fs::exists(file, error)) return file.string();
    if (first.empty()) first = file.string();
  }
  return first;
}

// Reason for which there is no plugin at the path.
std::string absence(const std::string& path) {
#ifdef DVM_WITHOUT_LLVM
  return "dvm was built without LLVM: there is no " + path;
#else
  return "there is no " + path;
#endif
}

// Whether only root and who runs dvm can replace it.
bool is_ours(const fs::path& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return false;
  return (found.st_uid == 0 || found.st_uid == ::geteuid()) && (found.st_mode & S_IWOTH) == 0;
}

}  // namespace

LoadedTranslator load_translator(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !(is_ours(path) && is_ours(fs::path(path).parent_path())))
    return {nullptr, path + " could have been replaced by another user"};
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return {nullptr, fs::exists(path, error) ? ::dlerror() : absence(path)};
  const auto get = reinterpret_cast<GetTranslator>(::dlsym(library, kGetTranslator));
  if (!get) return {nullptr, path + " is no translator"};
  const Translator* found = get();
  if (found->interface != kInterface) return {nullptr, path + " belongs to another version of dvm"};
  return {found, {}};
}

const LoadedTranslator& translator() {
  static const LoadedTranslator kLoaded = load_translator(find_plugin());
  return kLoaded;
}

}  // namespace dvm::vm::native
