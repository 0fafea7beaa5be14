// Reads .note.stapsdt by libelf. Covered by tests/unit/instrument/stapsdt_test.cpp and tests/fuzz/targets/stapsdt.cpp.

#include "runtime/symbol/stapsdt.h"

#include <fmt/format.h>
#include <gelf.h>

#include <array>
#include <cstring>

#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kStapsdtType = 3;
constexpr std::string_view kOwner = "stapsdt";

std::optional<uint64_t> offset_of(const std::vector<LoadSegment>& segments, uint64_t address, bool in_code) {
  for (const LoadSegment& segment : segments) {
    if (in_code && !segment.is_code) continue;
    if (address < segment.address || address - segment.address >= segment.size) continue;
    const uint64_t offset = address - segment.address + segment.offset;
    if (offset >= segment.offset && offset <= INT64_MAX) return offset;
  }
  return std::nullopt;
}

// A string of the note, and the NUL behind it.
std::optional<std::string> take_string(std::string_view& bytes) {
  const size_t end = bytes.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  std::string text(bytes.substr(0, end));
  bytes.remove_prefix(end + 1);
  return text;
}

// location, base and semaphore, then the three strings.
struct RawNote {
  std::array<uint64_t, 3> addresses{};
  std::string provider, name, arguments;
};

std::optional<RawNote> parse_note(std::string_view bytes) {
  RawNote note;
  if (bytes.size() < sizeof note.addresses) return std::nullopt;
  std::memcpy(note.addresses.data(), bytes.data(), sizeof note.addresses);
  bytes.remove_prefix(sizeof note.addresses);
  auto provider = take_string(bytes), name = take_string(bytes), arguments = take_string(bytes);
  if (!provider || !name || !arguments || provider->empty() || name->empty()) return std::nullopt;
  note.provider = std::move(*provider), note.name = std::move(*name), note.arguments = std::move(*arguments);
  return note;
}

class NoteReader {
 public:
  explicit NoteReader(Elf* elf) : elf_(elf), segments_(load_segments(elf)) {}

  std::vector<StapsdtNote> read() {
    size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0) return {};
    std::vector<Elf_Scn*> sections;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) continue;
      const char* name = elf_strptr(elf_, names, header.sh_name);
      if (name == nullptr) continue;
      if (std::strcmp(name, ".stapsdt.base") == 0) base_ = header.sh_addr;
      if (std::strcmp(name, ".note.stapsdt") == 0 && header.sh_type == SHT_NOTE) sections.push_back(section);
    }
    for (Elf_Scn* section : sections) read_section(section);
    return std::move(notes_);
  }

 private:
  void read_section(Elf_Scn* section) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    const auto* bytes = static_cast<const char*>(data->d_buf);
    GElf_Nhdr header;
    size_t name_at = 0, desc_at = 0;
    for (size_t at = 0, next; (next = gelf_getnote(data, at, &header, &name_at, &desc_at)) > at; at = next) {
      if (header.n_type != kStapsdtType || header.n_namesz != kOwner.size() + 1) continue;
      if (std::memcmp(bytes + name_at, kOwner.data(), kOwner.size() + 1) != 0) continue;
      if (auto note = parse_note({bytes + desc_at, header.n_descsz})) add(std::move(*note));
    }
  }

  // A note that was moved after linking (by prelink) was moved as far as .stapsdt.base.
  void add(RawNote&& raw) {
    const auto [location, linked_base, semaphore] = raw.addresses;
    const uint64_t moved = base_ ? *base_ - linked_base : 0;
    const auto offset = offset_of(segments_, location + moved, true);
    if (!offset) return;
    const auto count = semaphore == 0 ? std::optional<uint64_t>(0) : offset_of(segments_, semaphore + moved, false);
    notes_.push_back({std::move(raw.provider), std::move(raw.name), location + moved, *offset, count.value_or(0),
                      semaphore == 0 ? 0 : semaphore + moved, std::move(raw.arguments)});
  }

  Elf* elf_;
  std::vector<LoadSegment> segments_;
  std::optional<uint64_t> base_;
  std::vector<StapsdtNote> notes_;
};

}  // namespace

Result<std::vector<StapsdtNote>> read_stapsdt(const std::string& path) {
  OpenElf file(path);
  if (file.get() == nullptr) return Error{file.problem()};
  GElf_Ehdr header;
  if (elf_kind(file.get()) != ELF_K_ELF || gelf_getehdr(file.get(), &header) == nullptr) return Error{"it is not an ELF file"};
  if (gelf_getclass(file.get()) != ELFCLASS64 || header.e_machine != EM_X86_64) return Error{"it is not for x86-64"};
  return NoteReader(file.get()).read();
}

}  // namespace dvm::runtime
