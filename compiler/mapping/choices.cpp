#include "compiler/mapping/choices.h"

#include <fmt/format.h>

namespace systole::mapping {

std::string to_text(const std::vector<Choice>& choices) {
    std::string text;
    for (const Choice& choice : choices) {
        text += choice.of + '\n';
        for (const Alternative& alternative : choice.alternatives) {
            text += fmt::format("  {:>7} {:>14} cycles {}{}\n", alternative.name, alternative.cycles,
                                alternative.detail, alternative.chosen ? "  chosen" : "");
        }
        if (choice.left_out > 0) text += fmt::format("  and {} more\n", choice.left_out);
    }
    return text;
}

}  // namespace systole::mapping
