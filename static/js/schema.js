// Starts Swagger UI on the API page. Requests tried out there use the reader's session.
const place = document.getElementById("schema");

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  // There are many endpoints: each group is rendered only when it is opened.
  docExpansion: "none",
  validatorUrl: null,
  requestInterceptor(request) {
    if (request.method !== undefined && request.method !== "GET") {
      request.headers["X-CSRFToken"] = document.querySelector("[name=csrfmiddlewaretoken]").value;
    }
    return request;
  },
});
