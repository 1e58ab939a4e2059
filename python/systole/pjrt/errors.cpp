// Errors and events.
#include <utility>

#include "bridge.h"
#include "objects.h"

namespace systole::pjrt {
namespace {

void destroy_error(PJRT_Error_Destroy_Args* args) {
    delete args->error;
}

void error_message(PJRT_Error_Message_Args* args) {
    args->message = args->error->message.c_str();
    args->message_size = args->error->message.size();
}

PJRT_Error* error_code(PJRT_Error_GetCode_Args* args) {
    args->code = args->error->code;
    return nullptr;
}

PJRT_Error* destroy_event(PJRT_Event_Destroy_Args* args) {
    delete args->event;
    return nullptr;
}

PJRT_Error* is_ready(PJRT_Event_IsReady_Args* args) {
    args->is_ready = true;
    return nullptr;
}

PJRT_Error* event_error(PJRT_Event_Error_Args* /*args*/) {
    return nullptr;
}

PJRT_Error* await(PJRT_Event_Await_Args* /*args*/) {
    return nullptr;
}

PJRT_Error* on_ready(PJRT_Event_OnReady_Args* args) {
    args->callback(nullptr, args->user_arg);
    return nullptr;
}

}  // namespace

PJRT_Error* error(PJRT_Error_Code code, std::string message) {
    return new PJRT_Error{.code = code, .message = std::move(message)};
}

void add_errors_and_events(PJRT_Api& api) {
    api.PJRT_Error_Destroy = destroy_error;
    api.PJRT_Error_Message = error_message;
    api.PJRT_Error_GetCode = error_code;
    api.PJRT_Event_Destroy = destroy_event;
    api.PJRT_Event_IsReady = is_ready;
    api.PJRT_Event_Error = event_error;
    api.PJRT_Event_Await = await;
    api.PJRT_Event_OnReady = on_ready;
}

}  // namespace systole::pjrt

extern "C" void systole_fail(PJRT_Error* error, int code, const char* message) {
    error->code = static_cast<PJRT_Error_Code>(code);
    error->message = message;
}
