// Starts Swagger UI on the page of the API. What is tried out there is sent with the reader's session.
const place = document.getElementById("schema");

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  // There are many addresses: each group opens where it is wanted, and is drawn then.
  docExpansion: "none",
  validatorUrl: null,
  requestInterceptor(request) {
    if (request.method !== undefined && request.method !== "GET") {
      request.headers["X-CSRFToken"] = document.querySelector("[name=csrfmiddlewaretoken]").value;
    }
    return request;
  },
});
