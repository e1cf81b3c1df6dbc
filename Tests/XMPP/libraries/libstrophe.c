// libstrophe: libstrophe PORT ACCOUNT SECONDS
#include <stdio.h>
#include <stdlib.h>
#include <strophe.h>

static int seconds;

static int message(xmpp_conn_t *connection, xmpp_stanza_t *stanza, void *owner) {
    xmpp_stanza_t *body = xmpp_stanza_get_child_by_name(stanza, "body");
    char *text = body ? xmpp_stanza_get_text(body) : NULL;
    printf("got %s\n", text ? text : "");
    return 1;
}

static int end(xmpp_conn_t *connection, void *owner) {
    printf("still there\n");
    xmpp_disconnect(connection);
    return 0;
}

static void change(
    xmpp_conn_t *connection, xmpp_conn_event_t event, int error, xmpp_stream_error_t *reason,
    void *owner
) {
    xmpp_ctx_t *context = owner;
    if (event != XMPP_CONN_CONNECT) {
        xmpp_stop(context);
        return;
    }
    printf("ready\n");
    xmpp_handler_add(connection, message, NULL, "message", NULL, NULL);
    xmpp_timed_handler_add(connection, end, seconds * 1000, NULL);
    xmpp_stanza_t *presence = xmpp_presence_new(context);
    xmpp_send(connection, presence);
    xmpp_stanza_release(presence);
}

int main(int count, char **words) {
    char address[100];
    if (count != 4) return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    seconds = atoi(words[3]);
    snprintf(address, sizeof address, "%s@localhost/lib", words[2]);
    xmpp_initialize();
    xmpp_ctx_t *context = xmpp_ctx_new(NULL, NULL);
    xmpp_conn_t *connection = xmpp_conn_new(context);
    xmpp_conn_set_jid(connection, address);
    xmpp_conn_set_pass(connection, "x");
    xmpp_conn_set_flags(connection, XMPP_CONN_FLAG_DISABLE_TLS);
    xmpp_connect_client(connection, "127.0.0.1", (unsigned short)atoi(words[1]), change, context);
    xmpp_run(context);
    return 0;
}
