#include "sim/view/page/page.h"

// SYSTOLE_PAGE is the path of the bundled file. The assembler includes it, because a string literal of a
// megabyte would take the compiler seconds.
asm(".pushsection .rodata\n"
    "systole_page_begin: .incbin \"" SYSTOLE_PAGE
    "\"\n"
    "systole_page_end: .byte 0\n"
    ".global systole_page_begin, systole_page_end\n"
    ".popsection\n");

extern "C" {
extern const char systole_page_begin[];
extern const char systole_page_end[];
}

namespace systole::page {

std::string_view embedded_page() {
    return {systole_page_begin, static_cast<std::size_t>(systole_page_end - systole_page_begin)};
}

}  // namespace systole::page
