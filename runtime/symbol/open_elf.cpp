// Opens ELF files and finds their separate debug files. Covered by tests/unit/instrument/dwarf_test.cpp.

#include "runtime/symbol/open_elf.h"

#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace dvm::runtime {
namespace {

constexpr std::string_view kDebugRoot = "/usr/lib/debug";

std::string hex(const unsigned char* bytes, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; i++) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

// Empty: the file has no build id.
std::string build_id_path(Elf* elf) {
  constexpr size_t kNoteHeader = 16;  // three words and "GNU\0"
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size <= kNoteHeader + 2) continue;
    const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
    constexpr unsigned char kBuildId[] = {4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};
    if (data->d_size < kNoteHeader + 20 || std::memcmp(bytes, kBuildId, kNoteHeader) != 0) continue;
    return fmt::format("{}/.build-id/{}/{}.debug", kDebugRoot, hex(bytes + kNoteHeader, 1), hex(bytes + kNoteHeader + 1, 19));
  }
  return "";
}

// The name in .gnu_debuglink; empty: there is none.
std::string link_name(Elf* elf) {
  Elf_Scn* section = find_section(elf, ".gnu_debuglink");
  Elf_Data* data = section == nullptr ? nullptr : elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return "";
  std::string_view text(static_cast<const char*>(data->d_buf), data->d_size);
  text = text.substr(0, text.find('\0'));
  return text.find('/') == std::string_view::npos ? std::string(text) : "";
}

}  // namespace

OpenElf::OpenElf(const std::string& path) {
  elf_version(EV_CURRENT);
  auto file = RegularFile::open(path);
  Status read = file ? check_cost(file->size(), file->bytes_on_disk()) : file.error();
  if (read) {
    file_ = *std::move(file);
    elf_ = elf_begin(file_.fd(), ELF_C_READ, nullptr);
    read = elf_ != nullptr ? check_sections(elf_, bytes_on_disk()) : Error{fmt::format("it cannot be read: {}", elf_errmsg(-1))};
  }
  if (read) return;
  problem_ = read.error().message;
  if (elf_ != nullptr) elf_end(elf_);
  elf_ = nullptr;
}

OpenElf::~OpenElf() {
  if (elf_ != nullptr) elf_end(elf_);
}

Status check_sections(Elf* elf, uint64_t bytes_on_disk) {
  if (elf_kind(elf) != ELF_K_ELF) return Error{"it is not an ELF file"};
  uint64_t total = 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    total += std::min(header.sh_size, UINT64_MAX - total);
  }
  return check_cost(total, bytes_on_disk);
}

Elf_Scn* find_section(Elf* elf, std::string_view name) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return nullptr;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    const char* text = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : nullptr;
    if (text != nullptr && text == name) return section;
  }
  return nullptr;
}

std::vector<LoadSegment> load_segments(Elf* elf) {
  std::vector<LoadSegment> segments;
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return segments;
  for (size_t i = 0; i < count && i < 65536; i++) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
    segments.push_back({header.p_vaddr, header.p_offset, header.p_filesz, (header.p_flags & PF_X) != 0});
  }
  return segments;
}

std::vector<LoadSegment> code_segments(Elf* elf) {
  std::vector<LoadSegment> segments = load_segments(elf);
  std::erase_if(segments, [](const LoadSegment& segment) { return !segment.is_code; });
  return segments;
}

std::vector<std::string> debug_paths(Elf* elf, const std::string& path) {
  std::vector<std::string> paths;
  if (std::string by_id = build_id_path(elf); !by_id.empty()) paths.push_back(std::move(by_id));
  const std::string name = link_name(elf);
  if (name.empty()) return paths;
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(path, failed);
  const std::string folder = failed ? std::filesystem::path(path).parent_path() : real.parent_path();
  if (const std::string beside = fmt::format("{}/{}", folder, name); beside != real) paths.push_back(beside);
  paths.push_back(fmt::format("{}/.debug/{}", folder, name));
  paths.push_back(fmt::format("{}{}/{}", kDebugRoot, folder, name));
  return paths;
}

}  // namespace dvm::runtime
