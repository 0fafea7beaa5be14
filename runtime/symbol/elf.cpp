// Functions from .symtab and .dynsym of a file and of those that complete it, by libelf. Covered by
// tests/unit/instrument/elf_test.cpp and tests/fuzz/elf_fuzz.cpp.

#include "runtime/symbol/elf.h"

#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "runtime/symbol/mini_debug.h"
#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {

namespace {
constexpr size_t kMostCodeSegments = 64;

uint64_t end_of(uint64_t address, uint64_t size) { return size > UINT64_MAX - address ? UINT64_MAX : address + size; }

// Of symbols that at(0), at(1), ... has by address: the one around an address that begins last, by its first name.
// reach: of each, the farthest end of it and all before.
template <typename At>
auto innermost(const std::vector<uint64_t>& reach, uint64_t address, At at) -> decltype(at(0)) {
  const auto has = [&](size_t i) { return address - at(i)->address < at(i)->size; };
  size_t after = 0;
  for (size_t end = reach.size(); after < end;) {
    const size_t middle = after + (end - after) / 2;
    const bool is_behind = at(middle)->address > address;
    (is_behind ? end : after) = is_behind ? middle : middle + 1;
  }
  for (size_t i = after; i-- > 0 && reach[i] > address;) {
    if (!has(i)) continue;
    while (i > 0 && at(i - 1)->address == at(i)->address && has(i - 1)) i--;
    return at(i);
  }
  return nullptr;
}
}  // namespace

class ElfLoader {
 public:
  Status read_segments(Elf* elf) {
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr) return Error{"it is not an ELF file"};
    if (gelf_getclass(elf) != ELFCLASS64 || header.e_machine != EM_X86_64) return Error{"it is not for x86-64"};
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return Error{"it is neither a program nor a shared library"};
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return Error{fmt::format("its program headers are corrupt: {}", elf_errmsg(-1))};
    for (size_t i = 0; i < count && i < 65536; i++) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return Error{"its program headers are corrupt"};
      if (segment.p_type != PT_LOAD) continue;
      object_->loaded_.push_back({segment.p_vaddr, segment.p_offset, segment.p_memsz});
      if ((segment.p_flags & PF_X) != 0) object_->segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz});
    }
    if (object_->segments_.size() > kMostCodeSegments)  // each symbol is looked up in them
      return Error{fmt::format("it has more than {} segments of code", kMostCodeSegments)};
    return {};
  }

  void read_symbols(Elf* elf) {
    kept_.clear();
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
      object_->names_all_ |= header.sh_type == SHT_SYMTAB;
      read_table(elf, section, header);
    }
  }

  std::shared_ptr<const ElfObject> take() {
    auto& all = object_->functions_;
    auto rank = [](const ElfFunction& f) {
      return std::tuple(f.is_indirect, !f.is_global, f.name.starts_with('$'), leading_underscores(f.name), f.name.size(), f.name);
    };
    std::sort(all.begin(), all.end(), [&](const ElfFunction& a, const ElfFunction& b) {
      return a.address != b.address ? a.address < b.address : rank(a) < rank(b);
    });
    auto same = [](const ElfFunction& a, const ElfFunction& b) { return a.address == b.address && a.name == b.name; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    find_neighbours();
    std::erase_if(all, [](const ElfFunction& one) { return one.size == 0; });
    find_reach();
    take_data();
    return std::move(object_);
  }

 private:
  static size_t leading_underscores(std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); }

  void read_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* symbols = elf_getdata(section, nullptr);
    Elf_Scn* string_section = elf_getscn(elf, header.sh_link);
    Elf_Data* strings = string_section == nullptr ? nullptr : elf_getdata(string_section, nullptr);
    if (symbols == nullptr || symbols->d_buf == nullptr || strings == nullptr || strings->d_buf == nullptr) return;
    const std::string_view names = keep(header.sh_link, {static_cast<const char*>(strings->d_buf), strings->d_size});
    size_t count = std::min<size_t>(symbols->d_size / sizeof(GElf_Sym), INT32_MAX);
    for (size_t i = 0; i < count; i++) {
      GElf_Sym symbol;
      if (gelf_getsym(symbols, static_cast<int>(i), &symbol) != nullptr) add(elf, symbol, names);
    }
  }

  // Keeps one copy of each section of names, however many tables share it.
  std::string_view keep(size_t section, std::string_view text) {
    auto [kept, is_new] = kept_.try_emplace(section);
    if (!is_new) return kept->second;
    object_->names_.push_back(std::make_unique<char[]>(text.size()));
    char* copy = object_->names_.back().get();
    std::memcpy(copy, text.data(), text.size());
    return kept->second = {copy, text.size()};
  }

  static uint64_t end_of_section(Elf* elf, const GElf_Sym& symbol) {
    Elf_Scn* section = elf_getscn(elf, symbol.st_shndx);
    GElf_Shdr header;
    return section != nullptr && gelf_getshdr(section, &header) != nullptr ? header.sh_addr + header.sh_size : symbol.st_value;
  }

  // One without a size is as long as another of that address, or reaches to the next.
  void find_neighbours() {
    auto& all = object_->functions_;
    uint64_t next = UINT64_MAX;
    for (size_t end = all.size(), begin = end; end > 0; end = begin) {
      const uint64_t here = all[end - 1].address;
      uint64_t size = 0;
      while (begin > 0 && all[begin - 1].address == here) size = std::max(size, all[--begin].size);
      if (const auto section = ends_.find(here); size == 0 && section != ends_.end())
        size = std::min(next, std::max(section->second, here)) - here;
      for (size_t i = begin; i < end; i++) {
        if (all[i].size == 0) all[i].size = size;
        all[i].alone = std::min(all[i].size, next - here);
      }
      next = here;
    }
  }

  void find_reach() {
    uint64_t farthest = 0;
    for (const ElfFunction& one : object_->functions_) {
      farthest = std::max(farthest, end_of(one.address, one.size));
      object_->reach_.push_back(farthest);
    }
  }

  void take_data() {
    auto& all = object_->data_;
    auto rank = [](const ElfData& d) { return std::tuple(d.name, !d.is_global, d.address); };
    std::sort(all.begin(), all.end(), [&](const ElfData& a, const ElfData& b) { return rank(a) < rank(b); });
    auto same = [](const ElfData& a, const ElfData& b) { return a.name == b.name && a.address == b.address; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    order_data();
  }

  void order_data() {
    std::vector<ElfData>& all = object_->data_;
    std::vector<uint32_t>& order = object_->data_by_address_;
    for (uint32_t i = 0; i < all.size(); i++)
      if (!all[i].is_thread_local) order.push_back(i);
    auto rank = [&](uint32_t i) {
      const ElfData& d = all[i];
      return std::tuple(d.address, d.size == 0, !d.is_global, leading_underscores(d.name), d.name.size(), i);
    };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
    uint64_t farthest = 0;
    for (const uint32_t i : order) {
      all[i].size = std::max<uint64_t>(all[i].size, 1);
      object_->data_reach_.push_back(farthest = std::max(farthest, end_of(all[i].address, all[i].size)));
    }
  }

  void add(Elf* elf, const GElf_Sym& symbol, std::string_view names) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) return;
    std::string_view name = names.substr(symbol.st_name);
    name = name.substr(0, name.find('\0'));
    name = name.substr(0, name.find('@'));  // a symbol's version
    if (name.empty()) return;
    const unsigned char type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_FUNC || type == STT_GNU_IFUNC) return add_function(elf, symbol, name);
    if (name.starts_with('.')) return;  // a label of the compiler's, which some linkers keep
    if (type == STT_OBJECT || type == STT_TLS || type == STT_COMMON)
      object_->data_.push_back(
          {name, symbol.st_value, symbol.st_size, GELF_ST_BIND(symbol.st_info) != STB_LOCAL, type == STT_TLS});
  }

  // Hand-written code often says not how long it is.
  void add_function(Elf* elf, const GElf_Sym& symbol, std::string_view name) {
    std::optional<uint64_t> offset = object_->offset_of(symbol.st_value);
    if (!offset) return;
    if (symbol.st_size == 0) ends_.try_emplace(symbol.st_value, end_of_section(elf, symbol));
    object_->functions_.push_back(ElfFunction{.name = name,
                                              .address = symbol.st_value,
                                              .size = symbol.st_size,
                                              .offset = *offset,
                                              .is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
                                              .is_indirect = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC});
  }

  std::shared_ptr<ElfObject> object_ = std::make_shared<ElfObject>();
  std::map<size_t, std::string_view> kept_;  // names, by their section in the file that is being read
  std::map<uint64_t, uint64_t> ends_;        // of the sections of functions without a size, by the function's address
};

const ElfFunction* ElfObject::function_at(uint64_t address) const {
  return innermost(reach_, address, [this](size_t i) { return &functions_[i]; });
}

const ElfData* ElfObject::data_at(uint64_t address) const {
  return innermost(data_reach_, address, [this](size_t i) { return &data_[data_by_address_[i]]; });
}

bool ElfObject::is_loaded(uint64_t address) const {
  return std::any_of(loaded_.begin(), loaded_.end(), [address](const Segment& segment) {
    return address >= segment.address && address - segment.address < segment.size;
  });
}

std::optional<uint64_t> ElfObject::bias(uint64_t mapped_at, uint64_t offset) const {
  constexpr uint64_t kPage = 4096;
  for (const Segment& segment : segments_)
    if (offset >= segment.offset / kPage * kPage && offset - segment.offset / kPage * kPage < segment.size + kPage)
      return mapped_at - offset + segment.offset - segment.address;
  return std::nullopt;
}

std::optional<uint64_t> ElfObject::offset_of(uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address >= segment.size) continue;
    const uint64_t offset = address - segment.address + segment.offset;
    if (offset >= segment.offset && offset <= INT64_MAX) return offset;
  }
  return std::nullopt;
}

std::optional<uint64_t> ElfObject::address_of(uint64_t offset) const {
  for (const Segment& segment : segments_)
    if (offset >= segment.offset && offset - segment.offset < segment.size) return offset - segment.offset + segment.address;
  return std::nullopt;
}

Result<std::shared_ptr<const ElfObject>> ElfObject::read(const std::string& path) {
  OpenElf file(path);
  if (file.get() == nullptr) return Error{file.problem()};
  ElfLoader loader;
  if (Status segments = loader.read_segments(file.get()); !segments) return segments.error();
  loader.read_symbols(file.get());
  if (const MiniDebug mini(file.get()); mini.get() != nullptr) loader.read_symbols(mini.get());
  for (const std::string& debug_path : debug_paths(file.get(), path)) {
    OpenElf debug(debug_path);
    if (debug.get() == nullptr) continue;
    loader.read_symbols(debug.get());
    break;
  }
  return loader.take();
}

Result<std::shared_ptr<const ElfObject>> ElfCache::read(const std::string& path) {
  const auto key = FileKey::of(path);
  if (!key) return key.error();
  if (auto found = objects_.find(*key)) return found;
  auto object = ElfObject::read(path);
  if (object) objects_.add(*key, *object);
  return object;
}

}  // namespace dvm::runtime
