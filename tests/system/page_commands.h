#pragma once

#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/sim_process.h"

/// Pages that show commands and their output.
namespace systole::tests {

struct PageCommand {
    std::string text;                        ///< for the shell; may have several lines
    std::optional<std::string> output = {};  ///< what the page shows below it
};

/// The commands of a page and the words around them.
class Page {
public:
    /// Reads a page: its commands are
    /// - in blocks of ```console, what follows "$ ", with the lines below as output,
    /// - in indented blocks, each line that begins with a program,
    /// - in prose, what is marked as code, begins with "sim" and names something (`sim explain mnist_cnn`;
    ///   `sim explain` alone is the name of a command).
    /// A line that ends in a backslash goes on in the next one, and a here-document to its end.
    explicit Page(const std::filesystem::path& file) {
        std::istringstream lines(text_in(file));
        for (std::string line; std::getline(lines, line);) add(line);
        end_prose();
    }

    const std::vector<PageCommand>& commands() const { return commands_; }
    /// Without code, links' targets and comments; one line.
    const std::string& prose() const { return prose_; }
    /// What stands in comments (<!-- -->), line by line.
    const std::vector<std::string>& comments() const { return comments_; }
    /// What the page shows of commands and outputs.
    const std::string& shown() const { return shown_; }

private:
    void add(const std::string& line) {
        if (in_comment_ || line.starts_with("<!--")) return add_comment(line);
        if (line.starts_with("```")) {
            end_prose();
            is_fenced_ = !is_fenced_;
            is_console_ = is_fenced_ && line == "```console";
            return;
        }
        const bool is_indented = !is_fenced_ && line.starts_with("    ");
        if (!is_fenced_ && !is_indented) {
            static const std::regex number_of_item(R"(^\d+\. )");
            if (line.empty()) end_prose();
            if (!line.starts_with('#')) paragraph_ += std::regex_replace(line, number_of_item, "") + ' ';
            return;
        }
        end_prose();
        shown_ += line + '\n';
        std::string text = is_indented ? line.substr(4) : line;
        if (goes_on_) return add_to_command(text);
        text.erase(0, text.find_first_not_of(' '));  // in a list
        const bool is_marked = text.starts_with("$ ");
        if (is_marked) text = text.substr(2);
        static const std::regex program(
            R"(^(sim|make|cmake|ctest|git|apt-get|python3|\$python|pip|gtkwave|sqlite3|export|cd|source|)"
            R"((build|scripts|tests)/\S+) .*)");
        if (is_marked || (is_indented && std::regex_match(text, program))) {
            commands_.push_back({.text = ""});
            if (is_console_) commands_.back().output = "";
            add_to_command(text);
        } else if (is_console_ && !commands_.empty()) {
            *commands_.back().output += line + '\n';
        }
    }

    void add_to_command(const std::string& line) {
        std::string& text = commands_.back().text;
        text += (text.empty() ? "" : "\n") + line;
        const bool is_document = text.find("<<'END'") != std::string::npos;
        goes_on_ = is_document ? !line.ends_with("END") || line.ends_with("<<'END'") : line.ends_with('\\');
    }

    void add_comment(const std::string& line) {
        in_comment_ = line.find("-->") == std::string::npos;
        comments_.push_back(line);
    }

    void end_prose() {
        static const std::regex code(R"(`([^`]*)`)");
        for (std::sregex_iterator match(paragraph_.begin(), paragraph_.end(), code), end; match != end;
             ++match) {
            const std::string span = (*match)[1];
            if (names_something(span)) commands_.push_back({.text = span});
        }
        static const std::regex target(R"(\]\([^)]*\))");
        prose_ +=
            in_one_line(std::regex_replace(std::regex_replace(paragraph_, code, ""), target, "]")) + ' ';
        paragraph_.clear();
    }

    /// Whether a word behind the command's name is no option.
    static bool names_something(const std::string& span) {
        std::istringstream words(span);
        std::string word;
        if (!(words >> word) || word != "sim" || !(words >> word)) return false;
        while (words >> word) {
            if (!word.starts_with('-')) return true;
        }
        return false;
    }

    std::vector<PageCommand> commands_;
    std::string prose_;
    std::vector<std::string> comments_;
    std::string shown_;
    std::string paragraph_;
    bool is_fenced_ = false;
    bool is_console_ = false;
    bool in_comment_ = false;
    bool goes_on_ = false;
};

}  // namespace systole::tests
