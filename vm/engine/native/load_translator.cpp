// Covered by tests/unit/vm/native_test.cpp.

#include "vm/engine/native/load_translator.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "translator_interface.h"

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

// True if the file ends before a segment of its program headers does. dlopen() checks all else, but would die by SIGBUS there.
bool is_cut_off(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head = {};
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head) || head.e_phentsize != sizeof(Elf64_Phdr)) return false;
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  for (unsigned i = 0; i < head.e_phnum; i++) {
    Elf64_Phdr part = {};
    if (!file.seekg(static_cast<std::streamoff>(head.e_phoff + i * sizeof part)) ||
        !file.read(reinterpret_cast<char*>(&part), sizeof part))
      return false;
    if (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset)) return true;
  }
  return false;
}

// Bytes of address space that may still be used; nothing: there is no limit, or it is not known.
std::optional<uint64_t> address_space_left() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  if (!(file >> pages)) return std::nullopt;
  const uint64_t used = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<uint64_t>(used, limit.rlim_cur);
}

// Room for LLVM, for translations, and for later allocations of dvm. With less, constructors fail in dlopen().
constexpr uint64_t kMegabyte = 1 << 20, kRoom = 256 * kMegabyte;

// The reason names the plugin, also where a library that it needs is the trouble.
std::string dlopen_problem(const std::string& path) {
  const char* const reason = ::dlerror();
  const std::string text = reason == nullptr ? "it cannot be loaded" : reason;
  return text.find(path) == std::string::npos ? path + ": " + text : text;
}

}  // namespace

LoadedTranslator load_translator(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !(is_ours(path) && is_ours(fs::path(path).parent_path())))
    return {nullptr, path + " could have been replaced by another user"};
  if (is_cut_off(path)) return {nullptr, path + " is cut off: its end is missing"};
  if (const auto left = address_space_left(); left && *left < kRoom && fs::exists(path, error))
    return {nullptr, "LLVM needs " + std::to_string(kRoom / kMegabyte) + " MB of address space, and " +
                         std::to_string(*left / kMegabyte) + " are left (ulimit -v)"};
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return {nullptr, fs::exists(path, error) ? dlopen_problem(path) : absence(path)};
  const auto get = reinterpret_cast<GetTranslator>(::dlsym(library, kGetTranslator));
  if (!get) return {nullptr, path + " is not a translator"};
  const TranslatorPlugin* found = get();
  if (found->interface != kInterface) return {nullptr, path + " belongs to another version of dvm"};
  return {found, {}};
}

const LoadedTranslator& translator() {
  static const LoadedTranslator kLoaded = load_translator(find_plugin());
  return kLoaded;
}

}  // namespace dvm::vm::native
