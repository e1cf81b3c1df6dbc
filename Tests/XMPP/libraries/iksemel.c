// iksemel: iksemel PORT ACCOUNT SECONDS
#include <iksemel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static iksparser *parser;
static iksid *account;
static enum { new, authenticated, bound } phase = new;

static void send_and_delete(iks *stanza) {
    iks_send(parser, stanza);
    iks_delete(stanza);
}

static void features(void) {
    if (phase == new) {
        iks_start_sasl(parser, IKS_SASL_PLAIN, account->user, "x");
    } else if (phase == authenticated) {
        phase = bound;
        iks *bind = iks_make_resource_bind(account);
        iks_insert_attrib(bind, "id", "bind");
        send_and_delete(bind);
        send_and_delete(iks_make_pres(IKS_SHOW_AVAILABLE, NULL));
        printf("ready\n");
    }
}

static int take(void *owner, int type, iks *node) {
    if (type == IKS_NODE_NORMAL && node) {
        const char *name = iks_name(node);
        if (!strcmp(name, "stream:features")) features();
        if (!strcmp(name, "success")) {
            phase = authenticated;
            iks_send_header(parser, account->server);
        }
        if (!strcmp(name, "message")) {
            const char *body = iks_find_cdata(node, "body");
            printf("got %s\n", body ? body : "");
        }
    }
    if (node) iks_delete(node);
    return IKS_OK;
}

int main(int count, char **words) {
    char address[100];
    if (count != 4) return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(address, sizeof address, "%s@localhost/lib", words[2]);
    parser = iks_stream_new(IKS_NS_CLIENT, NULL, take);
    account = iks_id_new(iks_parser_stack(parser), address);
    if (iks_connect_via(parser, "127.0.0.1", atoi(words[1]), "localhost") != IKS_OK) return 1;
    for (const time_t end = time(NULL) + atoi(words[3]); time(NULL) < end;) {
        if (iks_recv(parser, 1) != IKS_OK) return 1;
    }
    printf("still there\n");
    return 0;
}
