#include "sim/study/sweep/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace systole::sweep {
namespace {

constexpr std::size_t aligned(std::size_t size) {
    return (size + 3) / 4 * 4;  // of name and text of a note, elf(5)
}

/// The build ID among the notes of a segment, or nothing.
std::string id_in(std::span<const std::uint8_t> notes) {
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note{};
        std::memcpy(&note, notes.data(), sizeof note);
        const std::size_t begin = sizeof note + aligned(note.n_namesz);
        const std::size_t end = begin + aligned(note.n_descsz);
        if (end > notes.size()) break;
        const bool is_gnu = note.n_namesz == 4 && std::memcmp(notes.data() + sizeof note, "GNU", 4) == 0;
        if (is_gnu && note.n_type == NT_GNU_BUILD_ID) {
            std::string text;
            for (const std::uint8_t byte : notes.subspan(begin, note.n_descsz))
                text += fmt::format("{:02x}", byte);
            return text;
        }
        notes = notes.subspan(end);
    }
    return {};
}

/// Of the first object, which is the program itself.
int read_program(dl_phdr_info* object, std::size_t, void* to) {
    for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(object->dlpi_addr + segment.p_vaddr);
        std::string id = id_in({begin, segment.p_memsz});
        if (!id.empty()) *static_cast<std::string*>(to) = std::move(id);
    }
    return 1;  // the others are libraries
}

}  // namespace

const std::string& build_id() {
    static const std::string id = [] {
        std::string read;
        ::dl_iterate_phdr(&read_program, &read);
        return read;
    }();
    return id;
}

}  // namespace systole::sweep
