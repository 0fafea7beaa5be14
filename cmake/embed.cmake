# Writes a C++ source with the text of files: cmake -DOUTPUT=FILE "-DFILES=FOLDER=PATH;..." -P embed.cmake. cmd/embedded.h declares it.
set(rows "")
foreach(entry ${FILES})
  string(REGEX MATCH "^([a-z]+)=(.*)$" matched ${entry})
  set(folder ${CMAKE_MATCH_1})
  set(path ${CMAKE_MATCH_2})
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND rows "    {\"${folder}\", \"${name}\", R\"dvm_text(${text})dvm_text\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"cmd/embedded.h\"

namespace dvm::cmd {
namespace {

constexpr EmbeddedFile kFiles[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() { return kFiles; }

}  // namespace dvm::cmd
")
