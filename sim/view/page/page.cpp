#include "sim/view/page/page.h"

#include <stdexcept>

namespace systole::page {
namespace {

using Json = nlohmann::ordered_json;

/// The limit on predictions that the page lists if there are no pictures.
constexpr std::size_t most_predictions = 200;

/// The report without the data that grows with the run and that the page does not show.
Json as_shown(Json report) {
    for (const char* const key : {"instruction_times", "registers", "buffers"}) report.erase(key);
    Json& predictions = report.at("predictions");
    if (predictions.size() > most_predictions) {
        predictions.erase(predictions.begin() + most_predictions, predictions.end());
    }
    return report;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    std::string replaced;
    std::size_t begin = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, begin)) {
        replaced.append(text, begin, at - begin).append(by);
        begin = at + what.size();
    }
    if (begin == 0) return;
    text = replaced.append(text, begin);
}

}  // namespace

std::string to_script_text(const Json& json) {
    constexpr auto replace = Json::error_handler_t::replace;
    std::string text = json.dump(-1, ' ', false, replace);
    // These characters occur only inside JSON strings, where the escapes are equivalent.
    replace_all(text, "<", "\\u003c");
    replace_all(text, "\xE2\x80\xA8", "\\u2028");
    replace_all(text, "\xE2\x80\xA9", "\\u2029");
    return text;
}

std::string to_html(std::span<const NamedReport> reports) {
    constexpr std::string_view place = "@REPORTS@";
    const std::string_view page = embedded_page();
    const std::size_t at = page.find(place);
    if (at == std::string_view::npos) throw std::logic_error("the embedded page has no place for reports");
    Json shown = Json::array();
    for (const NamedReport& each : reports) {
        shown.push_back({{"name", each.name}, {"report", as_shown(each.report)}});
    }
    std::string html(page.substr(0, at));
    html += to_script_text(shown);
    html += page.substr(at + place.size());
    return html;
}

}  // namespace systole::page
