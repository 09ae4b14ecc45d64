// Calls everything that LangChain4j's registry client can call, and prints what it understood.
import dev.langchain4j.mcp.registryclient.DefaultMcpRegistryClient;
import dev.langchain4j.mcp.registryclient.model.McpServerListRequest;

class Langchain4j {
  public static void main(String[] words) {
    var client = DefaultMcpRegistryClient.builder().baseUrl(words[0]).build();
    System.out.println("health " + client.healthCheck().getStatus());
    System.out.println("ping " + client.ping().pong());
    var request = McpServerListRequest.builder().search(words[1]).limit(50L).version("latest").build();
    var page = client.listServers(request);
    System.out.println("list " + page.getServers().size());
    for (var found : page.getServers())
      System.out.println("found " + found.getServer().getName() + " " + found.getServer().getVersion());
    var all = client.listServers(McpServerListRequest.builder().limit(10L).build());
    var second = McpServerListRequest.builder().limit(10L).cursor(all.getMetadata().getNextCursor()).build();
    System.out.println("second page " + client.listServers(second).getServers().size());
    var versions = client.getAllVersionsOfServer(words[2]).getServers();
    for (var each : versions) System.out.println("version " + each.getServer().getVersion());
    var details = client.getServerDetails(words[2]);
    System.out.println("details " + details.getServer().getVersion());
    var one = client.getSpecificServerVersion(words[2], "1.9.0");
    System.out.println("one " + one.getServer().getVersion() + " " + one.getMeta().getOfficial().getStatus());
    System.out.println("package " + one.getServer().getPackages().get(0).getIdentifier());
  }
}
