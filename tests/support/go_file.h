#pragma once
// The smallest file that is read as a program of Go: a note that says so, build information, a table of functions, and symbols of
// where the code begins and ends. Its parts are offsets in the file, so that a test can damage what it wants to.

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::test {

struct GoFile {
  static constexpr uint64_t kAddress = 0x400000;    // of the file's first byte
  static constexpr uint64_t kText = kAddress;       // runtime.text
  static constexpr uint64_t kTextEnd = kText + 64;  // runtime.etext
  static constexpr uint32_t kSince18 = 0xfffffff0, kSince20 = 0xfffffff1;
  static constexpr uint8_t kAssembly = 4;  // the flag
  static constexpr uint64_t kHeader = 72;  // of the table

  struct Function {
    uint32_t begin;  // from runtime.text on
    uint8_t flags;
  };

  explicit GoFile(std::vector<Function> functions = {{0, 0}, {16, kAssembly}, {32, 0}}, uint32_t magic = kSince20) {
    add(std::string(sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr), '\0'));
    note = add(std::string("\4\0\0\0\0\0\0\0\4\0\0\0Go\0\0", 16));
    build = add("\xff Go buildinf:" + std::string("\x08\x02", 2) + std::string(16, '\0') + "\x08go1.19.8");
    table = add(table_of(functions, magic));
    table_size = bytes.size() - table;
    add_symbols();
    add_headers();
  }

  template <class T>
  void put(uint64_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  uint64_t section(unsigned number) const { return sections + number * sizeof(Elf64_Shdr); }

  std::string bytes;
  uint64_t note = 0, build = 0, table = 0, table_size = 0;
  uint64_t sections = 0;                   // the section headers
  static constexpr unsigned kTable = 1;    // the number of the table's section
  static constexpr unsigned kStrings = 2;  // of that with all names

 private:
  static void append(std::string& to, const void* from, size_t size) { to.append(static_cast<const char*>(from), size); }
  uint64_t add(const std::string& part) {
    bytes.resize((bytes.size() + 15) / 16 * 16);
    bytes += part;
    return bytes.size() - part.size();
  }

  // | magic, ..., size of a pointer | count | ... | where the functions begin | begin, description of each | end | descriptions |
  static std::string table_of(const std::vector<Function>& functions, uint32_t magic) {
    constexpr uint32_t kDescription = 48;
    std::string made(kHeader, '\0');
    const uint64_t count = functions.size(), begin = kHeader;
    const auto described = static_cast<uint32_t>(8 * count + 4);
    std::memcpy(made.data(), &magic, sizeof magic);
    made[7] = 8;
    std::memcpy(made.data() + 8, &count, sizeof count);
    std::memcpy(made.data() + 64, &begin, sizeof begin);
    std::string descriptions;
    for (const Function& one : functions) {
      const uint32_t entry[] = {one.begin, described + static_cast<uint32_t>(descriptions.size())};
      append(made, entry, sizeof entry);
      std::string description(kDescription, '\0');
      std::memcpy(description.data(), &one.begin, sizeof one.begin);
      description[magic == kSince18 ? 37 : 41] = static_cast<char>(one.flags);
      descriptions += description;
    }
    const auto end = static_cast<uint32_t>(kTextEnd - kText);
    append(made, &end, sizeof end);
    return made + descriptions;
  }

  void add_symbols() {
    constexpr std::string_view kNames("\0.data.rel.ro.gopclntab\0runtime.text\0runtime.etext\0", 52);
    strings_ = add(std::string(kNames));
    const auto symbol = [&](std::string_view name, uint64_t address) {
      Elf64_Sym one{};
      one.st_name = static_cast<uint32_t>(kNames.find(name));
      one.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      one.st_shndx = kTable;
      one.st_value = address, one.st_size = 1;
      return one;
    };
    const Elf64_Sym all[] = {{}, symbol("runtime.text", kText), symbol("runtime.etext", kTextEnd)};
    symbols_ = add({reinterpret_cast<const char*>(all), sizeof all});
    strings_size_ = kNames.size(), symbols_size_ = sizeof all;
  }

  static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t at, uint64_t size) {
    return {type, flags, at, kAddress + at, kAddress + at, size, size, 8};
  }
  static Elf64_Shdr section(uint32_t name, uint32_t type, uint64_t at, uint64_t size) {
    Elf64_Shdr one{};
    one.sh_name = name, one.sh_type = type, one.sh_addr = kAddress + at, one.sh_offset = at, one.sh_size = size;
    one.sh_addralign = 8;
    return one;
  }

  void add_headers() {
    Elf64_Shdr symbols = section(1, SHT_SYMTAB, symbols_, symbols_size_);
    symbols.sh_link = kStrings, symbols.sh_entsize = sizeof(Elf64_Sym);
    symbols.sh_name = 0;
    const Elf64_Shdr all[] = {
        {}, section(1, SHT_PROGBITS, table, table_size), section(0, SHT_STRTAB, strings_, strings_size_), symbols};
    sections = add({reinterpret_cast<const char*>(all), sizeof all});
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG "\2\1\1", 7);
    header.e_type = ET_EXEC, header.e_machine = EM_X86_64, header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header, header.e_shoff = sections, header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr), header.e_phnum = 3;
    header.e_shentsize = sizeof(Elf64_Shdr), header.e_shnum = 4, header.e_shstrndx = kStrings;
    put(0, header);
    put(sizeof header, segment(PT_LOAD, PF_R | PF_X, 0, bytes.size()));
    put(sizeof header + sizeof(Elf64_Phdr), segment(PT_LOAD, PF_R | PF_W, 0, bytes.size()));
    put(sizeof header + 2 * sizeof(Elf64_Phdr), segment(PT_NOTE, PF_R, note, 16));
  }

  uint64_t strings_ = 0, strings_size_ = 0, symbols_ = 0, symbols_size_ = 0;
};

}  // namespace dvm::test
