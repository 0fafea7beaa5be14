// Covered by tests/unit/vm/native_test.cpp and the conformance tests of engine llvm.

#include "vm/engine/llvm/object.h"

#include <llvm/Object/ELFObjectFile.h>

#include "vm/engine/llvm/function.h"

namespace dvm::vm::translate {

namespace {

native::Translation failed(const llvm::Twine& error) { return {{}, error.str(), 0}; }

// What is not code, but would have to be in memory.
bool holds_data(const llvm::object::ELFSectionRef& section) {
  return section.getSize() != 0 && (section.getFlags() & llvm::ELF::SHF_ALLOC) != 0 && !section.isText();
}

// Of the gate within the code; 0: there is none.
llvm::Expected<uint64_t> gate_of(const llvm::object::ObjectFile& object) {
  for (const llvm::object::SymbolRef& symbol : object.symbols()) {
    auto name = symbol.getName();
    if (!name) return name.takeError();
    if (*name == kGate) return symbol.getAddress();
  }
  return 0;
}

}  // namespace

native::Translation code_of(llvm::MemoryBufferRef buffer) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!object) return failed(llvm::toString(object.takeError()));
  native::Translation made;
  for (const llvm::object::SectionRef& section : (*object)->sections()) {
    if (section.relocation_begin() != section.relocation_end()) return failed("the code refers to something outside");
    if (holds_data(section)) return failed("the code needs data beside it");
    if (!section.isText() || section.getSize() == 0) continue;
    if (!made.code.empty()) return failed("the code is in several sections");
    auto contents = section.getContents();
    if (!contents) return failed(llvm::toString(contents.takeError()));
    const auto* bytes = reinterpret_cast<const std::byte*>(contents->data());
    made.code.assign(bytes, bytes + contents->size());
  }
  if (made.code.empty()) return failed("there is no code");
  auto gate = gate_of(**object);
  if (!gate) return failed(llvm::toString(gate.takeError()));
  made.gate = *gate;
  return made;
}

}  // namespace dvm::vm::translate
