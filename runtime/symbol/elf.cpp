// Functions from .symtab and .dynsym, by libelf. Covered by tests/unit/instrument/elf_test.cpp and tests/fuzz/elf_fuzz.cpp.

#include "runtime/symbol/elf.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <tuple>

namespace dvm::runtime {
namespace {

class OpenElf {
 public:
  explicit OpenElf(const std::string& path) {
    elf_version(EV_CURRENT);
    // Without O_NONBLOCK a name that leads to a pipe would wait for its writer.
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ >= 0) elf_ = elf_begin(fd_, ELF_C_READ, nullptr);
  }
  ~OpenElf() {
    if (elf_ != nullptr) elf_end(elf_);
    if (fd_ >= 0) close(fd_);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  bool opened() const { return fd_ >= 0; }
  Elf* get() const { return elf_; }

 private:
  int fd_ = -1;
  Elf* elf_ = nullptr;
};

std::string hex(const unsigned char* bytes, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; i++) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

// Where distributions install the symbols that were stripped off the file; empty: the file has no build id.
std::string debug_path(Elf* elf) {
  constexpr size_t kNoteHeader = 16;  // three words and "GNU\0"
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size <= kNoteHeader + 2) continue;
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    constexpr unsigned char kBuildId[] = {4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};
    if (data->d_size < kNoteHeader + 20 || std::memcmp(bytes, kBuildId, kNoteHeader) != 0) continue;
    return fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", hex(bytes + kNoteHeader, 1), hex(bytes + kNoteHeader + 1, 19));
  }
  return "";
}

}  // namespace

class ElfLoader {
 public:
  Status read_segments(Elf* elf) {
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr) return Error{"it is no ELF file"};
    if (gelf_getclass(elf) != ELFCLASS64 || header.e_machine != EM_X86_64) return Error{"it is not for x86-64"};
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return Error{"it is neither a program nor a shared library"};
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return Error{fmt::format("its program headers are corrupt: {}", elf_errmsg(-1))};
    for (size_t i = 0; i < count && i < 65536; i++) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return Error{"its program headers are corrupt"};
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) segments_.push_back(segment);
    }
    return {};
  }

  void read_symbols(Elf* elf) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
      read_table(elf, section, header);
    }
  }

  std::shared_ptr<const ElfObject> take() {
    auto& all = object_->functions_;
    auto rank = [](const ElfFunction& f) { return std::tuple(f.address, !f.is_global, f.name.size(), f.name); };
    std::sort(all.begin(), all.end(), [&](const ElfFunction& a, const ElfFunction& b) { return rank(a) < rank(b); });
    auto same = [](const ElfFunction& a, const ElfFunction& b) { return a.address == b.address && a.name == b.name; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    return std::move(object_);
  }

 private:
  void read_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* symbols = elf_getdata(section, nullptr);
    Elf_Scn* string_section = elf_getscn(elf, header.sh_link);
    Elf_Data* strings = string_section == nullptr ? nullptr : elf_getdata(string_section, nullptr);
    if (symbols == nullptr || symbols->d_buf == nullptr || strings == nullptr || strings->d_buf == nullptr) return;
    std::string_view names = keep(static_cast<const char*>(strings->d_buf), strings->d_size);
    size_t count = std::min<size_t>(symbols->d_size / sizeof(GElf_Sym), INT32_MAX);
    for (size_t i = 0; i < count; i++) {
      GElf_Sym symbol;
      if (gelf_getsym(symbols, static_cast<int>(i), &symbol) != nullptr) add(symbol, names);
    }
  }

  std::string_view keep(const char* text, size_t size) {
    object_->names_.push_back(std::make_unique<char[]>(size));
    char* copy = object_->names_.back().get();
    std::memcpy(copy, text, size);
    return {copy, size};
  }

  void add(const GElf_Sym& symbol, std::string_view names) {
    unsigned char type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) return;
    if (symbol.st_name >= names.size()) return;
    std::string_view name = names.substr(symbol.st_name);
    name = name.substr(0, name.find('\0'));
    name = name.substr(0, name.find('@'));  // a symbol's version
    std::optional<uint64_t> offset = file_offset(symbol.st_value);
    if (name.empty() || !offset) return;
    object_->functions_.push_back(ElfFunction{.name = name,
                                              .address = symbol.st_value,
                                              .size = symbol.st_size,
                                              .offset = *offset,
                                              .is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
                                              .is_indirect = type == STT_GNU_IFUNC});
  }

  std::optional<uint64_t> file_offset(uint64_t address) const {
    for (const GElf_Phdr& segment : segments_) {
      if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
      uint64_t offset = address - segment.p_vaddr + segment.p_offset;
      if (offset >= segment.p_offset && offset <= INT64_MAX) return offset;
    }
    return std::nullopt;
  }

  std::vector<GElf_Phdr> segments_;
  std::shared_ptr<ElfObject> object_ = std::make_shared<ElfObject>();
};

Result<std::shared_ptr<const ElfObject>> ElfObject::read(const std::string& path) {
  OpenElf file(path);
  if (!file.opened()) return Error{std::strerror(errno)};
  if (file.get() == nullptr) return Error{fmt::format("it cannot be read: {}", elf_errmsg(-1))};
  ElfLoader loader;
  if (Status segments = loader.read_segments(file.get()); !segments) return segments.error();
  loader.read_symbols(file.get());
  if (OpenElf debug(debug_path(file.get())); debug.get() != nullptr) loader.read_symbols(debug.get());
  return loader.take();
}

Result<std::shared_ptr<const ElfObject>> ElfCache::read(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return Error{std::strerror(errno)};
  if (!S_ISREG(st.st_mode)) return Error{"it is no regular file"};
  Key key{st.st_dev, st.st_ino, static_cast<uint64_t>(st.st_size), st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec};
  if (auto found = objects_.find(key); found != objects_.end()) return found->second;
  auto object = ElfObject::read(path);
  if (object) objects_.emplace(key, *object);
  return object;
}

}  // namespace dvm::runtime
